// SPDX-License-Identifier: MIT
// Puts a wallet at an address known before it exists, and leaves an existing one as it is (ERC-6492).
pragma solidity 0.8.37;

import {Wallet1271} from "./Wallet1271.sol";

contract WalletFactory {
    function deploy(address owner, bytes32 salt) external returns (address wallet) {
        wallet = predict(owner, salt);
        if (wallet.code.length == 0) new Wallet1271{salt: salt}(owner);
    }

    function predict(address owner, bytes32 salt) public view returns (address) {
        bytes32 code = keccak256(abi.encodePacked(type(Wallet1271).creationCode, abi.encode(owner)));
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), salt, code)))));
    }
}
